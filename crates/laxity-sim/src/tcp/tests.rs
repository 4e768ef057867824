mod conservation;
mod echoes;
mod formula;
mod pipe;
mod rack;
mod speed;
mod traces;
