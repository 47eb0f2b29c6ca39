import { defineKind } from "../define-kind.ts";
import { groqModels } from "../reasoning/vendor-models.ts";
import { chat, responses, speech, transcriptions, translations } from "../standard-lanes.ts";

export const groq = defineKind({
  id: "groq",
  title: "Groq",
  baseUrl: "https://api.groq.com/openai/v1",
  variable: "GROQ",
  apiKeyHelp: "Create one at console.groq.com, under API keys.",
  reasoning: groqModels,
  lanes: [chat, responses, transcriptions, translations, speech],
});
