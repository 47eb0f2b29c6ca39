import { bareEnvironment } from "../../test/bare-environment.ts";
import { commandOf, programs } from "../../test/programs.ts";
import { until } from "../../test/until.ts";

/** A gateway in a separate process; CLI commands (command-line.ts) use the same data directory. */
const administrator = {
  SLUICE_ADMIN_EMAIL: "anna@example.com",
  SLUICE_ADMIN_PASSWORD: "correct horse battery",
};

export function words(line: string): readonly string[] {
  return line.split(" ");
}

export async function startGateway(dataDir: string, variables: Readonly<Record<string, string>> = administrator) {
  const child = Bun.spawn([...commandOf(programs.cli), "serve"], {
    env: { ...bareEnvironment(), SLUICE_DATA_DIR: dataDir, SLUICE_PORT: "0", ...variables },
    stdout: "pipe",
    stderr: "ignore",
  });
  const url = await addressIn(child.stdout);
  const statusOfCall = async (secret: string): Promise<number> => {
    const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  return {
    url,
    statusOfCall,
    /** Waits until the key gets this answer. */
    until: (secret: string, status: number) => until(async () => (await statusOfCall(secret)) === status),
    /** Waits until an answer of the admin API matches; the test's time limit ends it otherwise. */
    async sees<Body>(path: string, token: string, is: (body: Body) => boolean): Promise<void> {
      const headers = { authorization: `Bearer ${token}` };
      await until(async () => is((await (await fetch(url + path, { headers })).json()) as Body));
    },
    /** `Body`: the fields of the answer that the caller reads. */
    api:
      (token: string | null) =>
      async <Body = unknown>(method: string, path: string, body?: object) => {
        const headers = { "content-type": "application/json" };
        const answer = await fetch(url + path, {
          method,
          headers: token === null ? headers : { ...headers, authorization: `Bearer ${token}` },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { status: answer.status, body: (await answer.json()) as Body };
      },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** The URL that the gateway prints. */
async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of output) {
    text += decoder.decode(piece, { stream: true });
    const found = /http:\/\/(?:localhost|0\.0\.0\.0):(\d+)/.exec(text);
    if (found !== null) return `http://127.0.0.1:${found[1]}`;
  }
  throw new Error(`the gateway ended: ${text}`);
}
