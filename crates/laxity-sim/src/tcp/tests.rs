mod conservation;
mod echoes;
mod formula;
mod pipe;
mod speed;
mod traces;
