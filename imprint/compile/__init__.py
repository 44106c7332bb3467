"""From a jaxpr to an executable, and which executable answers a call."""
