export const firstRun = {
  stepOf: "Step {place} of {count}: {title}.",
  here: {
    provider: "Choose its type and enter its key. It is tested right away.",
    model: "Choose what your applications may call.",
    key: "Its secret is shown only once: copy it then.",
    call: "The message is already there: send it.",
  },
  viewRequests: "View requests",
  done: {
    title: "Your first request is done.",
    help: "Every request is listed under Requests: how it was routed, how long it took, what it cost.",
  },
  label: "First steps",
  hide: "Hide first steps",
  prompt: "Hello! Explain in one sentence what a model gateway does.",
  provider: {
    demo: "The built-in demo answers for now. Add an account with OpenAI, Anthropic or any other model provider.",
    help: "An account with OpenAI, Anthropic or any other model provider.",
    title: "Add a provider",
    action: "Add provider",
  },
  model: {
    title: "Choose models",
    help: "The names that applications call. A provider's models can be imported with a few clicks.",
  },
  key: {
    exists: "You have one, printed when the gateway first started. Create one for each application.",
    help: "One for each application. It carries the limits and the budget.",
    title: "Create an API key",
    action: "Create key",
  },
  call: {
    title: "Send your first request",
    help: "In the playground with one click, or from a shell, an SDK or a coding agent.",
    action: "Open playground",
  },
} as const;
