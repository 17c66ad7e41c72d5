package pdf

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

const (
	// memoryPages bounds what a document's reading takes, in pages of 64 KiB: 192 MiB.
	// While it grows, the process holds nearly twice as much.
	memoryPages = 3072
	// atOnce bounds the documents that a process reads side by side. Processes that
	// read strangers' documents read one.
	atOnce = 4
	// startWithin is how long a sandbox may take to be there.
	startWithin = time.Minute
)

// engine is pdfium compiled, once in a process.
var engine struct {
	sync.Mutex
	pool pdfium.Pool
}

// Start compiles pdfium unless that was done. What it compiles is kept in a folder and
// taken from there the next time: 50 ms instead of 2 s. No folder is one in memory. The
// folder holds machine code, so nobody else may write to it.
func Start(folder string) error {
	_, err := start(folder)
	return err
}

func start(folder string) (pdfium.Pool, error) {
	engine.Lock()
	defer engine.Unlock()
	if engine.pool != nil {
		return engine.pool, nil
	}
	cache := wazero.NewCompilationCache()
	if folder != "" {
		var err error
		if cache, err = wazero.NewCompilationCacheWithDir(folder); err != nil {
			return nil, fmt.Errorf("open the folder of compiled code: %w", err)
		}
	}
	pool, err := webassembly.Init(webassembly.Config{
		MaxTotal: atOnce, Stdout: io.Discard, Stderr: io.Discard,
		// Without a folder: it opens no files.
		FSConfig:      wazero.NewFSConfig(),
		RuntimeConfig: wazero.NewRuntimeConfig().WithCompilationCache(cache).WithMemoryLimitPages(memoryPages),
	})
	if err != nil {
		return nil, fmt.Errorf("compile pdfium: %w", err)
	}
	engine.pool = pool
	return pool, nil
}

// sandbox makes a fresh one, for one document.
func sandbox() (pdfium.Pdfium, error) {
	pool, err := start("")
	if err != nil {
		return nil, err
	}
	s, err := pool.GetInstance(startWithin)
	if err != nil {
		return nil, errors.Join(errors.New("pdfium does not start"), err)
	}
	return s, nil
}
