mod conservation;
mod dctcp;
mod echoes;
mod formula;
mod pipe;
mod rack;
mod speed;
mod traces;
