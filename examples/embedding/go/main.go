// Orders packets by a plan: go run .
package main

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"laxity.example/link/laxity"
)

const plan = `
version = 1
link = { rate = "10mbit", max-packet = "1500b" }
scheduler = { kind = "priority" }
[class.voice]
level = 0
deadline = "5ms"
arrival = { bucket = "300b", rate = "80kB/s", packet = "300b" }
[class.web]
level = 1
`

func main() {
	_, err := laxity.Parse("version = 1\nlink.rate = 5\n", "bad.toml")
	var bad *laxity.Error
	if !errors.As(err, &bad) || bad.Line != 2 || !strings.HasPrefix(bad.Message, "bad.toml:2:") {
		log.Fatalf("not refused at its place: %v", err)
	}
	parsed, err := laxity.Parse(plan, "plan.toml")
	if err != nil {
		log.Fatal(err)
	}
	admitted, proof, err := parsed.Admitted()
	if err != nil || !admitted || !strings.Contains(proof, "bound_ns") {
		log.Fatal("not admitted: ", proof, err)
	}
	scheduler, err := laxity.NewScheduler(parsed, 1)
	if err != nil {
		log.Fatal(err)
	}
	defer scheduler.Close()
	for handle, name := range []string{"web", "voice", "web", "voice"} {
		class, err := parsed.Class(name)
		if err != nil {
			log.Fatal(err)
		}
		packet := laxity.Packet{Class: class, Length: 200, Handle: uint64(handle)}
		if err := scheduler.Push(0, packet); err != nil {
			log.Fatal(err)
		}
	}
	for {
		packet, ok, err := scheduler.Pop(1)
		if err != nil {
			log.Fatal(err)
		}
		if !ok {
			break
		}
		fmt.Println(packet.Handle)
	}
}
