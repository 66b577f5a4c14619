// A bot of the line protocol that moves at random. Build and run it:
//
//	go build -o bot bot.go
//	./bot
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strings"
)

func main() {
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		words := strings.Fields(input.Text())
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "game":
			fmt.Println("ready")
		case "move": // the moves follow the colour, the board and the time
			fmt.Println(words[4+rand.Intn(len(words)-4)])
		case "quit":
			return
		}
	}
}
