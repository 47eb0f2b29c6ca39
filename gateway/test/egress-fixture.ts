import { connect, createServer, type Socket } from "node:net";

/** The answer of the proxy instead of opening a tunnel. */
type Behaviour = "refuse" | "challenge" | "cut" | "cut_late" | "other" | "endless" | "chatty" | "hang";

/** A request to the proxy, as received. */
interface SeenRequest {
  readonly line: string;
  readonly authorization: string | null;
}

export interface EgressFixture {
  /** The proxy's URL. */
  readonly port: number;
  /** The upstream's port without TLS. */
  readonly plainPort: number;
  /** The CA that signed the certificate of upstream.example. */
  readonly authority: string;
  readonly seen: SeenRequest[];
  /** The number of requests to the proxy so far, and of open connections. */
  readonly connects: number;
  readonly open: number;
  behave(behaviour: Behaviour): Disposable;
  close(): Promise<void>;
}

const replies: Readonly<Record<Exclude<Behaviour, "hang" | "cut">, string>> = {
  refuse: "HTTP/1.1 403 Forbidden\r\ncontent-length: 6\r\n\r\nno way",
  challenge:
    'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="p"\r\ncontent-length: 0\r\n\r\n',
  cut_late: "HTTP/1.1 200 Conn",
  other: "SSH-2.0-OpenSSH_9.6\r\n\r\n",
  endless: `HTTP/1.1 200 ok\r\n${"x-more: y\r\n".repeat(4_000)}`,
  chatty: "HTTP/1.1 200 ok\r\n\r\nhello",
};

/** An egress proxy that tunnels every request to one upstream, with and without TLS. */
export async function openEgressFixture(): Promise<EgressFixture> {
  const fixtures = new URL("./fixtures/tls/", import.meta.url).pathname;
  const authority = await Bun.file(`${fixtures}upstream.example.cert.pem`).text();
  const answer = (scheme: string) => async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    const size = (await request.arrayBuffer()).byteLength;
    return new Response(`${scheme} ${request.headers.get("host")} ${pathname}${search} ${size}`);
  };
  const place = { port: 0, hostname: "127.0.0.1" };
  const key = Bun.file(`${fixtures}upstream.example.key.pem`);
  const secure = Bun.serve({ idleTimeout: 0, ...place, tls: { cert: authority, key }, fetch: answer("https") });
  const plain = Bun.serve({ idleTimeout: 0, ...place, fetch: answer("http") });
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let behaviour: Behaviour | null = null;
  let connects = 0;

  const proxy = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    let head = "";
    const read = (bytes: Buffer): void => {
      head += bytes.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.off("data", read);
      connects++;
      if (behaviour === "hang") return;
      if (behaviour === "cut") socket.destroy();
      else if (behaviour !== null) socket.write(replies[behaviour], () => behaviour !== "challenge" && socket.end());
      else forward(socket, head, end);
    };
    socket.on("data", read);
  });
  const forward = (socket: Socket, head: string, end: number): void => {
    const [line = "", ...fields] = head.slice(0, end).split("\r\n");
    const authorizations = fields.filter((field) => /^proxy-authorization:/i.test(field));
    seen.push({ line, authorization: authorizations.map((field) => field.split(": ")[1]).join("|") || null });
    const tunnel = line.startsWith("CONNECT ");
    const upstream = connect((tunnel ? secure : plain).port ?? 0, "127.0.0.1", () => {
      if (tunnel) socket.write("HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n");
      else upstream.write(head.replace(/^(\S+) http:\/\/[^/]+/, "$1 "), "latin1");
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  };
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    plainPort: plain.port ?? 0,
    authority,
    seen,
    get connects() {
      return connects;
    },
    get open() {
      return sockets.size;
    },
    behave(next) {
      behaviour = next;
      return { [Symbol.dispose]: () => (behaviour = null) };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await Promise.all([secure.stop(true), plain.stop(true)]);
    },
  };
}
