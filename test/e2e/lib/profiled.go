// A program that profiles itself with Go's own runtime: CPU time and allocation into the two files
// it is given.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"time"
)

var keep [][]byte

func sorting(n int) int {
	a := make([]int, n)
	for i := range a {
		a[i] = (i * 7919) % n
	}
	sort.Ints(a)
	return a[n/2]
}

func joining(n int) int {
	s := []string{}
	for i := 0; i < n; i++ {
		s = append(s, "x")
	}
	return len(strings.Join(s, ","))
}

func create(path string) *os.File {
	f, err := os.Create(path)
	if err != nil {
		panic(err)
	}
	return f
}

func main() {
	cpu := create(os.Args[1])
	if err := pprof.StartCPUProfile(cpu); err != nil {
		panic(err)
	}
	n := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		n += sorting(20000) + joining(2000)
		if len(keep) < 100 {
			keep = append(keep, make([]byte, 100000))
		}
	}
	pprof.StopCPUProfile()
	cpu.Close()
	heap := create(os.Args[2])
	runtime.GC()
	if err := pprof.Lookup("allocs").WriteTo(heap, 0); err != nil {
		panic(err)
	}
	heap.Close()
	runtime.KeepAlive(keep)
	if n == 0 {
		os.Exit(1)
	}
}
