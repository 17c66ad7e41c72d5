package connections

import (
	"slices"

	"visavis.dev/api/route"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/tool"
)

// ConnectionTool is a tool of a connected system.
type ConnectionTool struct {
	Name        string        `json:"name" doc:"What the system, or its config, calls it."`
	Title       string        `json:"title" doc:"What visitors are told that it does where they are asked; of kind mcp, of a tool that is not enabled, what its server calls it."`
	Description *string       `json:"description" doc:"What it does, in the words of config, or else of its server; null where neither says so."`
	InputSchema *route.Object `json:"inputSchema" nullable:"true" doc:"The JSON Schema of its arguments; null where the last test did not find the tool."`
	Enabled     bool          `json:"enabled" doc:"Whether a persona's model may use it: config names it, and nothing stands in the way."`
	Confirm     *tool.Confirm `json:"confirm" nullable:"true" enum:"never,visitor" doc:"Who is asked before it is used; null where config does not name it."`
	Problem     *string       `json:"problem" doc:"Why it cannot be used; null where it can."`
}

// showTools lists the tools of a connection. What its config says was checked when it was kept.
func showTools(c connection.Connection) []ConnectionTool {
	shown := []ConnectionTool{}
	switch c.Kind {
	case connection.HTTP:
		tools, _ := c.Config.HTTPTools()
		for i := range tools {
			shown = append(shown, enabled(tools[i].Name, &tools[i].Tool))
		}
	case connection.MCP:
		named, _ := c.Config.MCPTools()
		for _, d := range c.Discovered {
			shown = append(shown, showDiscovered(d, named))
		}
		for i := range named {
			if !slices.ContainsFunc(c.Discovered, func(d connection.Discovered) bool { return d.Name == named[i].Server }) {
				t, missing := enabled(named[i].Server, &named[i].About), "the last test did not find it; test the connection"
				t.Enabled, t.InputSchema, t.Problem = false, nil, &missing
				shown = append(shown, t)
			}
		}
	default:
	}
	return shown
}

func enabled(name string, t *tool.Tool) ConnectionTool {
	schema := route.Object(t.Parameters)
	return ConnectionTool{Name: name, Title: t.Title, Description: orNull(t.Description), InputSchema: &schema, Enabled: true, Confirm: &t.Confirm}
}

func showDiscovered(d connection.Discovered, named []connection.MCPTool) ConnectionTool {
	schema := route.Object(d.Schema)
	t := ConnectionTool{Name: d.Name, Title: d.Title, Description: orNull(d.Description), InputSchema: &schema, Problem: orNull(d.Problem)}
	i := slices.IndexFunc(named, func(m connection.MCPTool) bool { return m.Server == d.Name })
	if i < 0 {
		return t
	}
	about := &named[i].About
	t.Title, t.Enabled, t.Confirm = about.Title, d.Problem == "", &about.Confirm
	if about.Description != "" {
		t.Description = &about.Description
	}
	return t
}
