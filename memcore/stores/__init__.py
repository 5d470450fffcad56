"""Stores: one package a backend, each implementing the parts of `memcore.ports.Store`."""
