package com.example.orders;

record Payment(long order, String state, int cents) {}
