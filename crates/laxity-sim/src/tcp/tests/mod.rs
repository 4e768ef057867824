mod conservation;
mod formula;
mod pipe;
mod speed;
mod traces;
