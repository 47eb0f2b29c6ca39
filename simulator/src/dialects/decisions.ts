import { type AnswerUsage, silentAnswer, usageFor } from "../answer.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { isObject, type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";
import { usageOf } from "./responses-object.ts";

/**
 * Decisions of OpenAI (`questions` is a list) and of Google (an object). The more words of a question are in the input, the more
 * probable it is. Questions that contain the word "refuse" are refused by OpenAI.
 */
export const decisions: Dialect = {
  id: "decisions",
  matches: ({ method, path }) => method === "POST" && path.endsWith("/decisions"),
  read,
  headers: openAiHeaders,
  error: openAiError,
};

const questionsMax = 400;

function read(request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  const { input, questions } = body;
  const isGoogle = isObject(questions) && !Array.isArray(questions);
  const list = isGoogle ? Object.values(questions).map(objectOf) : objectsOf(questions);
  if (list.length === 0 || list.length > questionsMax) {
    throw new Refusal(400, "Invalid 'questions': expected between 1 and 400 questions.", { param: "questions" });
  }
  const written = stringOf(body["model"]);
  if (isGoogle && !written.startsWith("models/")) throw new Refusal(400, "Invalid model name format.");
  const modelParts = splitModel(written.replace(/^models\//, ""));
  const text = splitMarker(typeof input === "string" ? input : JSON.stringify(input ?? ""));
  if (text.text === "") throw new Refusal(400, "Missing required parameter: 'input'.", { param: "input" });
  const words =
    countWords(text.text) + list.reduce((sum, { instructions }) => sum + countWords(textOf(instructions)), 0);
  const parsed = { ...bareRequest(modelParts.model, words), script: { ...modelParts.script, ...text.script } };
  return {
    parsed,
    ping: null,
    compose(script) {
      const prompt = script.prompt_tokens ?? words;
      return { ...silentAnswer(prompt), usage: usageFor(script, { prompt, output: 0, reasoning: 0 }) };
    },
    whole(_head, { usage }) {
      if (isGoogle) {
        const answers = Object.fromEntries(
          Object.entries(questions).map(([id, question]) => [id, googleAnswer(objectOf(question), text.text)]),
        );
        return JSON.stringify({ answers, ...(usage === null ? {} : { usage: googleUsage(usage) }) });
      }
      const answers = list.map((question) => openAiAnswer(question, text.text));
      return JSON.stringify({ answers, model: parsed.model, ...(usage === null ? {} : { usage: usageOf(usage) }) });
    },
    events: () => [],
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

function openAiAnswer(question: JsonObject, input: string): JsonObject {
  const { type } = question;
  const name = stringOf(question["name"]) || null;
  if (/\brefuse\b/i.test(textOf(question["instructions"]))) return { type: "refusal", name };
  if (type === "predicate") return { type, name, probability: match(textOf(question["instructions"]), input) };
  if (type === "choice") {
    const values = objectsOf(question["choices"]).map(({ value }) => value);
    const probabilities = shares(values.map(String), input).map((probability, at) => ({
      value: values[at],
      probability,
    }));
    const best = probabilities.reduce((one, other) => (other.probability > one.probability ? other : one));
    return { type, name, choice: best.value, confidence: best.probability, probabilities };
  }
  if (type !== "score") throw new Refusal(400, "Invalid 'questions[].type'.", { param: "questions" });
  const labels = objectsOf(question["levels"]).map(({ label }) => stringOf(label));
  const probabilities = shares(labels, input).map((probability, value) => ({
    label: labels[value],
    value,
    probability,
  }));
  const score = probabilities.reduce((sum, { value, probability }) => sum + value * probability, 0);
  return { type, name, score, confidence: Math.max(...probabilities.map((one) => one.probability)), probabilities };
}

function googleAnswer(question: JsonObject, input: string): JsonObject {
  const { type, criteria } = question;
  if (type === "noul") return { type, noul: match(textOf(question["instructions"]), input), confidence: 0.9 };
  const names = Array.isArray(criteria) ? criteria.map((_, at) => String(at)) : Object.keys(objectOf(criteria));
  const found = shares(names, input);
  const probabilities = Object.fromEntries(names.map((name, at) => [name, found[at]]));
  const best = names[found.indexOf(Math.max(...found))];
  if (type === "choice") return { type, choice: best, confidence: Math.max(...found), probabilities };
  if (type !== "score") throw new Refusal(400, "Invalid question type.");
  return { type, score: Number(best), confidence: Math.max(...found), probabilities, legend: objectOf(criteria) };
}

function googleUsage({ prompt, cached }: AnswerUsage): JsonObject {
  return {
    total_input_tokens: prompt,
    total_cached_tokens: cached,
    total_output_tokens: 0,
    total_tokens: prompt,
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

/** The share of a text's words that are in the input, between 0.01 and 0.99. */
function match(text: string, input: string): number {
  const words = text.toLowerCase().match(/\w+/g) ?? [];
  const held = new Set(input.toLowerCase().match(/\w+/g) ?? []);
  const share = words.filter((word) => held.has(word)).length / Math.max(1, words.length);
  return Math.round((0.01 + share * 0.98) * 1_000) / 1_000;
}

/** Matches of several texts, with a sum of 1. */
function shares(texts: readonly string[], input: string): readonly number[] {
  const scores = texts.map((text) => match(text, input));
  const sum = scores.reduce((one, other) => one + other, 0);
  return scores.map((score) => score / sum);
}
