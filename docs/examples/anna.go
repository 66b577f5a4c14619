// A player of the file protocol that moves at random. Build and run it:
//
//	go build -o anna anna.go
//	./anna
//
// Its name is that of its file: ./anna reads anna.in and writes anna.out.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

type square struct{ row, column int }

// Rows and columns from 0; the lowest row is the first; empty squares are missing.
var board = map[square]byte{{3, 3}: 'B', {4, 4}: 'B', {3, 4}: 'W', {4, 3}: 'W'}
var name = filepath.Base(os.Args[0])

// receive waits for NAME.in, reads it, deletes it, and returns its words without brackets.
func receive() []string {
	for {
		text, err := os.ReadFile(name + ".in")
		if err == nil {
			os.Remove(name + ".in")
			bare := strings.NewReplacer("(", " ", ")", " ").Replace(string(text))
			return strings.Fields(strings.ToUpper(bare))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// send writes NAME.out, so that nobody sees half of it.
func send(text string) {
	if err := os.WriteFile(name+".tmp", []byte(text+"\n"), 0o644); err != nil {
		panic(err)
	}
	if err := os.Rename(name+".tmp", name+".out"); err != nil {
		panic(err)
	}
}

// flipped returns the discs that turn if this colour plays here.
func flipped(colour byte, at square) []square {
	var all []square
	if board[at] != 0 {
		return all
	}
	for down := -1; down <= 1; down++ {
		for across := -1; across <= 1; across++ {
			var line []square
			here := square{at.row + down, at.column + across}
			for board[here] != 0 && board[here] != colour {
				line = append(line, here)
				here = square{here.row + down, here.column + across}
			}
			if board[here] == colour {
				all = append(all, line...)
			}
		}
	}
	return all
}

func moves(colour byte) []square {
	var all []square
	for row := 0; row < 8; row++ {
		for column := 0; column < 8; column++ {
			if len(flipped(colour, square{row, column})) > 0 {
				all = append(all, square{row, column})
			}
		}
	}
	return all
}

func play(colour byte, at square) {
	for _, disc := range flipped(colour, at) {
		board[disc] = colour
	}
	board[at] = colour
}

func main() {
	mine := receive()[0][0]
	other := map[byte]byte{'W': 'B', 'B': 'W'}
	for turn := byte('W'); len(moves('W'))+len(moves('B')) > 0; turn = other[turn] {
		if turn != mine {
			words := receive()
			if column := words[1][0]; column != 'P' {
				row, err := strconv.Atoi(words[2])
				if err != nil {
					panic(err)
				}
				play(turn, square{row - 1, int(column - 'A')})
			}
			continue
		}
		choices := moves(mine)
		if len(choices) == 0 {
			send(fmt.Sprintf("(%c P 1)", mine))
			continue
		}
		move := choices[rand.Intn(len(choices))]
		play(mine, move)
		send(fmt.Sprintf("(%c %c %d)", mine, 'A'+move.column, move.row+1))
	}
}
