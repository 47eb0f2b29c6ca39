export const storedObjects = {
  title: "Stored at vendors",
  help: "Conversations and other objects that vendors keep for later requests, newest first, at most 100.",
  none: "No such objects.",
  id: "ID",
  copyId: "Copy ID",
  kind: "Type",
  kinds: {
    conversation: "Conversation",
    container: "Container",
    skill: "Skill",
    vector_store: "Vector store",
  },
  provider: "Provider",
  model: "Model",
  key: "API key",
  created: "Created",
  expires: "Expires",
} as const;
