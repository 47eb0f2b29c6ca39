import type OpenAI from "openai";
import type { Ask, Caller, Heard, HeardUsage, Said, ToolChoice } from "./ask.ts";
import { openAiClient, openAiErrorOf } from "./caller-chat.ts";
import type { GatewayAccess } from "./gateway-access.ts";
import { createTape, type Tape } from "./tape.ts";

type ResponseParams = OpenAI.Responses.ResponseCreateParamsNonStreaming;
type InputItem = OpenAI.Responses.ResponseInputItem;
type ModelResponse = OpenAI.Responses.Response;

/** Responses of the official `openai` package: without server state, as agents call it. */
export function responsesCaller(access: GatewayAccess, version: "latest" | "previous"): Caller {
  return {
    name: version === "latest" ? "openai responses" : "openai-previous responses",
    dialect: "responses",
    async whole(ask) {
      const tape = createTape(access.onExchange);
      const response = await openAiClient(access, version, tape).responses.create(paramsOf(ask));
      return heardOf(response, tape, []);
    },
    async stream(ask) {
      const tape = createTape(access.onExchange);
      const stream = openAiClient(access, version, tape).responses.stream({ ...paramsOf(ask), stream: true });
      const pieces: string[] = [];
      let last = -1;
      for await (const event of stream) {
        if (event.sequence_number <= last) throw new Error("events are not in order");
        last = event.sequence_number;
        if (event.type === "response.output_text.delta") pieces.push(event.delta);
      }
      return heardOf(await stream.finalResponse(), tape, pieces);
    },
    errorOf: (thrown) => openAiErrorOf(thrown) ?? errorEventOf(thrown),
  };
}

/** The previous major throws an `error` event as it came. */
function errorEventOf(thrown: unknown): ReturnType<Caller["errorOf"]> {
  if (typeof thrown !== "object" || thrown === null || !("type" in thrown) || thrown.type !== "error") return null;
  return { status: undefined, kind: "ResponseErrorEvent", said: "message" in thrown ? String(thrown.message) : "" };
}

function paramsOf(ask: Ask): ResponseParams {
  const { model, system, turns, tools, thinks, schema, outputMax, toolChoice } = ask;
  return {
    model,
    input: turns.flatMap(itemsOf),
    store: false,
    ...(system === undefined ? {} : { instructions: system }),
    ...(tools === undefined
      ? {}
      : { tools: tools.map((tool) => ({ type: "function" as const, ...tool, strict: false })) }),
    ...(thinks === true
      ? { reasoning: { effort: "medium", summary: "auto" }, include: ["reasoning.encrypted_content"] }
      : {}),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: "json_schema", name: "answer", schema: { ...schema }, strict: true } } }),
    ...(outputMax === undefined ? {} : { max_output_tokens: outputMax }),
    ...(toolChoice === undefined ? {} : { tool_choice: choiceOf(toolChoice) }),
  };
}

function choiceOf(choice: ToolChoice): NonNullable<ResponseParams["tool_choice"]> {
  if (choice === "none") return "none";
  return choice === "any" ? "required" : { type: "function", name: choice.name };
}

function itemsOf(said: Said): readonly InputItem[] {
  switch (said.by) {
    case "model":
      return [{ role: "assistant", content: said.text }];
    case "echo":
      return said.heard.echo as readonly InputItem[];
    case "tools":
      return said.results.map(({ id, text }) => ({ type: "function_call_output", call_id: id, output: text }));
    case "user":
      return [{ role: "user", content: partsOf(said) }];
  }
}

function partsOf(said: Extract<Said, { by: "user" }>): string | OpenAI.Responses.ResponseInputContent[] {
  const parts: OpenAI.Responses.ResponseInputContent[] = [{ type: "input_text", text: said.text }];
  if (said.imagePng !== undefined) {
    parts.push({ type: "input_image", image_url: `data:image/png;base64,${said.imagePng}`, detail: "low" });
  }
  if (said.documentPdf !== undefined) {
    const data = `data:application/pdf;base64,${said.documentPdf}`;
    parts.push({ type: "input_file", filename: "paper.pdf", file_data: data });
  }
  return parts.length === 1 ? said.text : parts;
}

function refusalIn(output: ModelResponse["output"]): string {
  const parts = output.flatMap((item) => (item.type === "message" ? item.content : []));
  return parts.flatMap((part) => (part.type === "refusal" ? [part.refusal] : [])).join("");
}

function heardOf(response: ModelResponse, tape: Tape, pieces: readonly string[]): Heard {
  const { output } = response;
  const calls = output.flatMap((item) =>
    item.type === "function_call" ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }] : [],
  );
  const thinking = output.flatMap((item) =>
    item.type === "reasoning" ? [...item.summary, ...(item.content ?? [])].map((part) => part.text) : [],
  );
  return {
    text: response.output_text,
    refusal: refusalIn(output),
    thinking: thinking.join(""),
    calls,
    stop: stopOf(response, calls.length > 0),
    usage: () => usageOf(response),
    echo: output,
    pieces,
    exchange: tape.last(),
  };
}

function stopOf(response: ModelResponse, calls: boolean): string {
  if (response.status === "completed") return calls ? "tool-calls" : "stop";
  const reason = response.incomplete_details?.reason;
  return response.status === "incomplete" && reason === "max_output_tokens" ? "length" : `${response.status} ${reason}`;
}

function usageOf({ usage }: ModelResponse): HeardUsage {
  if (usage === undefined || usage === null) throw new Error("an answer without usage");
  if (usage.total_tokens !== usage.input_tokens + usage.output_tokens) throw new Error("a total that is no sum");
  return {
    input: usage.input_tokens,
    cacheRead: usage.input_tokens_details.cached_tokens,
    cacheWrite: usage.input_tokens_details.cache_write_tokens,
    output: usage.output_tokens,
    reasoning: usage.output_tokens_details.reasoning_tokens,
  };
}
