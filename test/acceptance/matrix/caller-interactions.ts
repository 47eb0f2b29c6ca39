import { GoogleGenAI, type Interactions } from "@google/genai";
import type { Caller, CallResult, CallSpec, ToolChoice, Turn, Usage } from "./call-spec.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

type Request = Interactions.CreateModelInteractionParamsNonStreaming;
type Step = Interactions.Step;
type Content = Interactions.Content;
type Event = Interactions.InteractionSSEEvent;

/** Interactions with the official `@google/genai`, without server state. */
export function interactionsCaller(access: GatewayAccess): Caller {
  const client = (recorder: Recorder): GoogleGenAI =>
    new GoogleGenAI({ apiKey: access.key, httpOptions: { baseUrl: access.url, fetch: recorder.fetch } });
  return {
    name: "google interactions",
    dialect: "interactions",
    async whole(ask) {
      const recorder = createRecorder(access.onExchange);
      const interaction = await client(recorder).interactions.create(requestOf(ask), noRetries);
      return resultOf(interaction, interaction.steps ?? [], recorder, []);
    },
    async stream(ask) {
      const recorder = createRecorder(access.onExchange);
      const stream = await client(recorder).interactions.create({ ...requestOf(ask), stream: true }, noRetries);
      const assembled = new AssembledSteps();
      for await (const event of stream) assembled.add(event);
      return resultOf(assembled.last(), assembled.steps, recorder, assembled.pieces);
    },
    errorOf(thrown) {
      if (thrown instanceof StreamFailure) return { status: undefined, kind: thrown.name, message: thrown.message };
      if (!(thrown instanceof Error && "statusCode" in thrown)) return null;
      return { status: Number(thrown.statusCode), kind: thrown.name, message: thrown.message };
    },
  };
}

/** Otherwise the SDK retries, too. */
const noRetries = { maxRetries: 0 };

/** The SDK returns the events of a stream, errors and ends included, without throwing. */
class StreamFailure extends Error {
  override readonly name = "StreamFailure";
}

function requestOf(ask: CallSpec): Request & { readonly stream?: false } {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  const generation = {
    ...(thinks === true ? { thinking_level: "medium" as const, thinking_summaries: "auto" as const } : {}),
    ...(outputMax === undefined ? {} : { max_output_tokens: outputMax }),
    ...(toolChoice === undefined ? {} : { tool_choice: choiceOf(toolChoice) }),
  };
  return {
    model,
    input: turns.flatMap(stepsOf),
    store: false,
    ...(system === undefined ? {} : { system_instruction: system }),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: "function" as const, ...tool })) }),
    ...(Object.keys(generation).length === 0 ? {} : { generation_config: generation }),
    ...(schema === undefined ? {} : { response_format: { type: "text", mime_type: "application/json", schema } }),
  };
}

function choiceOf(choice: ToolChoice): NonNullable<NonNullable<Request["generation_config"]>["tool_choice"]> {
  return typeof choice === "string" ? choice : { allowed_tools: { mode: "any", tools: [choice.name] } };
}

function stepsOf(turn: Turn): readonly Step[] {
  switch (turn.by) {
    case "model":
      return [{ type: "model_output", content: [{ type: "text", text: turn.text }] }];
    case "echo":
      return turn.result.echo as readonly Step[];
    case "tools":
      return turn.results.map(({ id, name, text }) => ({ type: "function_result", name, call_id: id, result: text }));
    case "user":
      return [{ type: "user_input", content: contentsOf(turn) }];
  }
}

function contentsOf({ text, imagePng, documentPdf }: Extract<Turn, { by: "user" }>): Content[] {
  const contents: Content[] = [{ type: "text", text }];
  if (imagePng !== undefined) contents.push({ type: "image", data: imagePng, mime_type: "image/png" });
  if (documentPdf !== undefined) contents.push({ type: "document", data: documentPdf, mime_type: "application/pdf" });
  return contents;
}

/** The SDK does not assemble a stream, so its steps are assembled here. */
class AssembledSteps {
  readonly steps: Step[] = [];
  readonly pieces: string[] = [];
  #last: Interactions.InteractionCompletedEvent["interaction"] | null = null;

  add(event: Event): void {
    switch (event.event_type) {
      case "error":
        throw new StreamFailure(event.error?.message);
      case "interaction.completed":
        this.#last = event.interaction;
        return;
      case "step.start":
        if (event.index !== this.steps.length) throw new Error("steps are not in order");
        this.steps.push(structuredClone(event.step));
        return;
      case "step.delta":
        this.#extend(event);
        return;
      case "step.stop":
        this.#close(event.index);
    }
  }

  last(): Interactions.InteractionCompletedEvent["interaction"] {
    if (this.#last === null) throw new StreamFailure("the stream ended without its last event");
    return this.#last;
  }

  readonly #args = new Map<number, string>();

  #extend({ index, delta }: Extract<Event, { event_type: "step.delta" }>): void {
    const step = this.steps[index];
    if (step === undefined) throw new Error("a delta without a step");
    if (delta.type === "arguments_delta") this.#args.set(index, (this.#args.get(index) ?? "") + delta.arguments);
    if (step.type === "thought") {
      if (delta.type === "thought_signature" && delta.signature !== undefined) step.signature = delta.signature;
      if (delta.type === "thought_summary" && delta.content?.type === "text") {
        step.summary = [...(step.summary ?? []), delta.content];
      }
    }
    if (step.type !== "model_output" || delta.type !== "text") return;
    this.pieces.push(delta.text);
    const before = step.content?.[0];
    const text = (before?.type === "text" ? before.text : "") + delta.text;
    step.content = [{ type: "text", text }];
  }

  #close(index: number): void {
    const step = this.steps[index];
    const args = this.#args.get(index);
    if (step?.type === "function_call" && args !== undefined) step.arguments = JSON.parse(args);
  }
}

interface Ended {
  readonly status: string;
  readonly usage?: Interactions.Usage | undefined;
  readonly errors?: readonly { readonly code?: string | undefined }[] | undefined;
}

function resultOf(ended: Ended, steps: readonly Step[], recorder: Recorder, pieces: readonly string[]): CallResult {
  const texts = steps.flatMap((step) => (step.type === "model_output" ? (step.content ?? []) : []));
  const thoughts = steps.flatMap((step) => (step.type === "thought" ? (step.summary ?? []) : []));
  const calls = steps.flatMap((step) =>
    step.type === "function_call" ? [{ id: step.id, name: step.name, args: step.arguments }] : [],
  );
  return {
    text: textIn(texts),
    refusal: "",
    thinking: textIn(thoughts),
    calls,
    stop: ended.errors?.[0]?.code ?? stops[ended.status] ?? ended.status,
    usage: () => usageOf(ended.usage),
    echo: steps,
    pieces,
    exchange: recorder.last(),
  };
}

const stops: Readonly<Record<string, string>> = {
  completed: "stop",
  requires_action: "tool-calls",
  incomplete: "length",
};

function textIn(contents: readonly { readonly type: string; readonly text?: string }[]): string {
  return contents.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : [])).join("");
}

function usageOf(usage: Interactions.Usage | undefined): Usage {
  if (usage === undefined) throw new Error("the answer has no usage");
  const reasoning = usage.total_thought_tokens ?? 0;
  const input = usage.total_input_tokens ?? 0;
  const output = (usage.total_output_tokens ?? 0) + reasoning;
  if (usage.total_tokens !== input + output) throw new Error("the total is not the sum");
  return { input, cacheRead: usage.total_cached_tokens ?? 0, cacheWrite: null, output, reasoning };
}
