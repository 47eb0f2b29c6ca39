import { until } from "../../../../test/until.ts";
import { aliceKey, type Overrides, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";

export const bobKey = "sk-bob-0123456789abcdefghij";

export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/** One model that gets the Responses dialect unchanged, and two for which it is translated. */
export function socketGateway(overrides: Overrides = {}): Promise<StartedGateway> {
  return startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai" }),
      upstream("chat", simulator),
      upstream("claude", simulator, { kind: "anthropic" }),
    ],
    models: ["openai", "chat", "claude"].map((provider) => ({
      name: provider,
      deployments: [{ provider, upstream_model: provider === "claude" ? "claude-sim-4-5" : "upstream-gpt" }],
      price: { input: 1, output: 10 },
    })),
    ...overrides,
  });
}

export interface TestSocket {
  readonly frames: Frame[];
  readonly closed: { code: number; reason: string } | null;
  send(frame: object | string): void;
  /** The first frame of this type, starting at index `from`. */
  until(type: string, from?: number): Promise<Frame>;
  untilClosed(): Promise<{ code: number; reason: string }>;
  /** Sends a response.create and returns its frames, up to the one that ends it. */
  ask(frame: object): Promise<readonly Frame[]>;
  close(): void;
  readonly socket: WebSocket;
}

export async function openSocket(
  gateway: StartedGateway,
  { key = aliceKey, headers = {} }: { readonly key?: string; readonly headers?: Record<string, string> } = {},
): Promise<TestSocket> {
  const options = { headers: { authorization: `Bearer ${key}`, ...headers } };
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/responses`, options as unknown as string[]);
  const frames: Frame[] = [];
  let closed: { code: number; reason: string } | null = null;
  const opened = Promise.withResolvers<void>();
  socket.onopen = () => opened.resolve();
  socket.onmessage = ({ data }) => void frames.push(JSON.parse(String(data)) as Frame);
  socket.onclose = ({ code, reason }) => {
    closed = { code, reason };
    opened.reject(new Error(`closed with ${code} ${reason}`));
  };
  await opened.promise;
  const send = (frame: object | string): void => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  return {
    frames,
    socket,
    get closed() {
      return closed;
    },
    send,
    async until(type, from = 0) {
      await until(() => frames.slice(from).some((frame) => frame.type === type) || closed !== null);
      const found = frames.slice(from).find((frame) => frame.type === type);
      if (found === undefined)
        throw new Error(`no ${type}, but ${JSON.stringify(closed)} and ${JSON.stringify(frames.slice(from))}`);
      return found;
    },
    async untilClosed() {
      await until(() => closed !== null);
      return closed ?? { code: 0, reason: "" };
    },
    async ask(frame) {
      const from = frames.length;
      send({ type: "response.create", ...frame });
      await until(() => frames.slice(from).some(({ type }) => ends.has(type)) || closed !== null);
      return frames.slice(from);
    },
    close: () => socket.close(),
  };
}

const ends: ReadonlySet<string> = new Set([
  ...["response.completed", "response.failed", "response.incomplete", "error"],
]);

/** The response in the last of these frames. */
export function responseIn(frames: readonly Frame[]): Readonly<Record<string, unknown>> {
  return frames.at(-1)?.["response"] as Readonly<Record<string, unknown>>;
}
