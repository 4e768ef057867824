module laxity.example/link

go 1.21
