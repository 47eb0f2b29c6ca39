import { openaiLike } from "../openai-like.ts";
import { chat, responses } from "../standard-lanes.ts";

export const groq = openaiLike({
  id: "groq",
  title: "Groq",
  baseUrl: "https://api.groq.com/openai/v1",
  variable: "GROQ",
  form: {
    apiKeyHelp: "Make one at console.groq.com, under API keys.",
  },
  lanes: [chat, responses],
});
