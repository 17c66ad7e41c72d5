package cockroach

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// sqlArgument is which argument of a function or method is a statement, by its name.
var sqlArgument = map[string]int{
	"Exec": 1, "Query": 1, "QueryRow": 1, "Queue": 0, "Later": 0,
	"All": 4, "AllIn": 3, "One": 5, "OneIn": 4, "SweepRows": 2, "SweepEach": 3,
}

// sqlFunctions are the packages whose functions and methods these are.
var sqlFunctions = regexp.MustCompile(`^(github.com/jackc/pgx/v5.*|visavis.dev/pkg/store/(database|tenant))$`)

// collector finds the texts that reach a database.
type collector struct {
	packages []*packages.Package
	// values are the expressions that a variable, a parameter or a function may be.
	values map[types.Object][]valued
	// functions are those that were read from source, by their full names.
	functions map[string]*types.Func
	// found are the places that send a text.
	found map[string][]token.Position
	// unknown are the calls whose statement could not be made out.
	unknown []token.Position
}

type valued struct {
	expr ast.Expr
	info *types.Info
	// added is put after what the variable was, perhaps where that depends on something.
	added, perhaps bool
}

// collect reads the statements of every package but those of tests, once for all tests.
func collect(t *testing.T) *collector {
	t.Helper()
	c, err := collected()
	require.NoError(t, err)
	return c
}

var collected = sync.OnceValues(func() (*collector, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
		Dir:  "../..",
	}, "./pkg/...", "./api/...", "./operator/...", "./cmd/...")
	if err != nil {
		return nil, err
	}
	// What tests of the API put into rows is theirs, as in other tests' files.
	loaded = slices.DeleteFunc(loaded, func(p *packages.Package) bool { return p.PkgPath == "visavis.dev/api/apitest" })
	c := &collector{packages: loaded, values: map[types.Object][]valued{}, functions: map[string]*types.Func{}, found: map[string][]token.Position{}}
	for _, p := range loaded {
		for _, o := range p.TypesInfo.Defs {
			if f, ok := o.(*types.Func); ok {
				c.functions[f.FullName()] = f
			}
		}
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		for _, file := range p.Syntax {
			ast.PreorderStack(file, nil, func(n ast.Node, above []ast.Node) bool {
				c.learn(p, n, slices.ContainsFunc(above, depends))
				return true
			})
		}
	}
	for _, p := range loaded {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					c.call(p, call)
				}
				return true
			})
		}
	}
	return c, nil
})

// depends says that what is below a node may not be done.
func depends(n ast.Node) bool {
	switch n.(type) {
	case *ast.IfStmt, *ast.CaseClause, *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// learn notes what a node gives a name.
func (c *collector) learn(p *packages.Package, n ast.Node, perhaps bool) {
	note := func(name ast.Expr, value ast.Expr) {
		if id, ok := name.(*ast.Ident); ok {
			if o := p.TypesInfo.ObjectOf(id); o != nil {
				a, _ := n.(*ast.AssignStmt)
				c.values[o] = append(c.values[o], valued{value, p.TypesInfo, a != nil && a.Tok == token.ADD_ASSIGN, perhaps})
			}
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, name := range n.Lhs {
			switch {
			case len(n.Lhs) != len(n.Rhs):
				if call, ok := n.Rhs[0].(*ast.CallExpr); ok && i == 0 {
					note(name, call)
				}
			default:
				note(name, n.Rhs[i])
			}
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) {
				note(name, n.Values[i])
			}
		}
	case *ast.CompositeLit:
		c.learnFields(p, n)
	case *ast.CallExpr:
		c.learnArguments(p, n)
	case *ast.FuncDecl:
		if o := p.TypesInfo.ObjectOf(n.Name); o != nil && n.Body != nil {
			ast.Inspect(n.Body, func(b ast.Node) bool {
				if r, ok := b.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
					c.values[o] = append(c.values[o], valued{expr: r.Results[0], info: p.TypesInfo})
				}
				_, within := b.(*ast.FuncLit)
				return !within
			})
		}
	}
}

// learnFields notes what a literal gives the fields of a struct.
func (c *collector) learnFields(p *packages.Package, literal *ast.CompositeLit) {
	of, ok := p.TypesInfo.TypeOf(literal).Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range literal.Elts {
		if named, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := named.Key.(*ast.Ident); ok {
				c.values[p.TypesInfo.ObjectOf(key)] = append(c.values[p.TypesInfo.ObjectOf(key)], valued{expr: named.Value, info: p.TypesInfo})
			}
			continue
		}
		c.values[of.Field(i)] = append(c.values[of.Field(i)], valued{expr: e, info: p.TypesInfo})
	}
}

// learnArguments notes what a call gives the parameters of a function of ours.
func (c *collector) learnArguments(p *packages.Package, call *ast.CallExpr) {
	f := callee(p.TypesInfo, call)
	if f == nil || !strings.HasPrefix(f.Pkg().Path(), "visavis.dev/") {
		return
	}
	parameters := f.Origin().Signature().Params()
	for i := range min(parameters.Len(), len(call.Args)) {
		if at := c.own(f.Origin(), i); at != nil {
			c.values[at] = append(c.values[at], valued{expr: call.Args[i], info: p.TypesInfo})
		}
	}
}

// own finds a parameter where its package was read from source: callers know another one.
func (c *collector) own(f *types.Func, at int) types.Object {
	if own := c.functions[f.FullName()]; own != nil {
		return own.Signature().Params().At(at)
	}
	return nil
}

func callee(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	if i, ok := fun.(*ast.IndexExpr); ok {
		fun = i.X
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	f, _ := info.ObjectOf(id).(*types.Func)
	if f == nil || f.Pkg() == nil {
		return nil
	}
	return f
}

// call notes the statements of a call that sends some.
func (c *collector) call(p *packages.Package, call *ast.CallExpr) {
	f := callee(p.TypesInfo, call)
	if f == nil || !sqlFunctions.MatchString(f.Pkg().Path()) {
		return
	}
	at, sends := sqlArgument[f.Name()]
	if f.Pkg().Path() == "visavis.dev/pkg/store/tenant" && (f.Name() == "Query" || f.Name() == "QueryRow") {
		at, sends = f.Signature().Params().Len()-2, true // Reads'
	}
	if !sends || at >= len(call.Args) {
		return
	}
	place := p.Fset.Position(call.Pos())
	if strings.HasSuffix(place.Filename, "/store/database/transaction.go") {
		return // it hands on what others send
	}
	texts := c.texts(valued{expr: call.Args[at], info: p.TypesInfo}, 0)
	if len(texts) == 0 {
		c.unknown = append(c.unknown, place)
	}
	for _, text := range texts {
		c.found[text] = append(c.found[text], place)
	}
}

// most is how many texts one expression may be.
const most = 300

// texts are the values that an expression of type string may have.
func (c *collector) texts(v valued, depth int) (all []string) {
	if tv, ok := v.info.Types[v.expr]; ok && tv.Value != nil && tv.Value.Kind() == constant.String {
		return []string{constant.StringVal(tv.Value)}
	}
	if depth > 8 {
		return nil
	}
	switch e := ast.Unparen(v.expr).(type) {
	case *ast.BinaryExpr:
		for _, a := range c.texts(valued{expr: e.X, info: v.info}, depth+1) {
			for _, b := range c.texts(valued{expr: e.Y, info: v.info}, depth+1) {
				if len(all) < most {
					all = append(all, a+b)
				}
			}
		}
	case *ast.Ident:
		all = c.variable(c.values[v.info.ObjectOf(e)], depth)
	case *ast.SelectorExpr:
		all = c.variable(c.values[c.object(v.info.ObjectOf(e.Sel))], depth)
	case *ast.CallExpr:
		return c.results(e, v.info, depth)
	}
	return all[:min(len(all), most)]
}

// variable are the texts that a variable may have at last, by what it is given in order.
func (c *collector) variable(given []valued, depth int) (all []string) {
	for _, v := range given {
		texts := c.texts(v, depth+1)
		if !v.added {
			all = append(all, texts...)
			continue
		}
		var longer []string
		for _, before := range all {
			for _, text := range texts {
				longer = append(longer, before+text)
			}
		}
		if v.perhaps {
			longer = append(all, longer...)
		}
		if len(longer) > 0 {
			all = longer[:min(len(longer), most)]
		}
	}
	return all
}

// object is a package's variable as it was read from source.
func (c *collector) object(o types.Object) types.Object {
	if o == nil || o.Pkg() == nil {
		return o
	}
	for _, p := range c.packages {
		if p.PkgPath == o.Pkg().Path() {
			if own := p.Types.Scope().Lookup(o.Name()); own != nil {
				return own
			}
		}
	}
	return o
}

// results are the texts that a call may answer.
func (c *collector) results(call *ast.CallExpr, info *types.Info, depth int) (all []string) {
	f := callee(info, call)
	switch {
	case f == nil:
		return nil
	case f.FullName() == "fmt.Sprintf":
		for _, format := range c.texts(valued{expr: call.Args[0], info: info}, depth+1) {
			all = append(all, regexp.MustCompile(`%d`).ReplaceAllString(format, "1"))
		}
		return all
	case f.FullName() == "strconv.Itoa":
		return []string{"1"}
	}
	own := c.functions[f.Origin().FullName()]
	if own == nil {
		return nil
	}
	for _, known := range c.values[own] {
		all = append(all, c.texts(known, depth+1)...)
	}
	return all
}
