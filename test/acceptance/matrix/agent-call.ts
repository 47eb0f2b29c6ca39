/** The answer to an agent's request. Agents use their own HTTP clients, not an SDK. */
export interface AgentAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed data of each event, if the answer is a stream. */
  readonly events: readonly AgentEvent[];
  /** The parsed body, if the answer is not a stream. */
  json(): Record<string, unknown>;
}

export interface AgentEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface AgentCall {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export async function agentCall(url: string, { method, headers, body }: AgentCall): Promise<AgentAnswer> {
  const bytes = body instanceof Uint8Array ? body : body === undefined ? null : JSON.stringify(body);
  const answer = await fetch(url, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    redirect: "error",
    ...(bytes === null ? {} : { body: bytes }),
  });
  const text = await answer.text();
  const streamed = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    events: streamed ? eventsIn(text) : [],
    json: () => JSON.parse(text),
  };
}

/** Both agents read `event:` lines and data, which must agree. */
function eventsIn(text: string): readonly AgentEvent[] {
  const blocks = text.split("\n\n").filter((block) => block.trim() !== "");
  return blocks.flatMap((block): AgentEvent[] => {
    const lines = block.split("\n");
    const eventName = lines.find((line) => line.startsWith("event: "))?.slice(7);
    const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
    if (data === undefined || data === "[DONE]") return [];
    const event = JSON.parse(data) as AgentEvent;
    if (eventName !== event.type) throw new Error(`an event named ${eventName} has the type ${event.type}`);
    return [event];
  });
}

/** All events of a type. */
export function ofType(answer: AgentAnswer, type: string): readonly AgentEvent[] {
  return answer.events.filter((event) => event.type === type);
}
