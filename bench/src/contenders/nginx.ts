import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { answersChat } from "../answers-chat.ts";
import { startChild } from "../child.ts";
import type { Contender } from "../contender.ts";
import { until } from "../deadline.ts";
import { freePort, type Run } from "../run.ts";

/** The reference: nginx with one worker, upstream keep-alive and no access log. null: nginx is not installed. */
export async function startNginx(run: Run): Promise<Contender<"nginx"> | null> {
  const program = Bun.which("nginx") ?? Bun.which("nginx", { PATH: "/usr/sbin:/usr/local/sbin:/usr/local/bin" });
  if (program === null) return null;
  const port = freePort();
  const directory = join(run.directory, `nginx-${port}`);
  mkdirSync(directory);
  const file = join(directory, "nginx.conf");
  await Bun.write(file, nginxConfig({ port, upstreamPort: run.upstreamPort, directory }));
  const log = join(directory, "error.log");
  const child = startChild({
    command: [program, "-p", directory, "-c", file, "-e", log],
    cores: run.cores.contender,
    log: join(directory, "output.log"),
  });
  await until(() => answersChat(port, "none"), 10_000, "nginx's first answer");
  return { name: "nginx", port, key: "none", pid: child.pid, log, stop: () => child.stop(500) };
}

interface NginxConfig {
  readonly port: number;
  readonly upstreamPort: number;
  readonly directory: string;
}

// Request bodies stay in memory (by default, nginx writes them to files), and responses are not buffered.
function nginxConfig({ port, upstreamPort, directory }: NginxConfig): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `  ${name}_temp_path ${directory}/${name};`)
    .join("\n");
  return `daemon off;
${process.getuid?.() === 0 ? "user root;\n" : ""}worker_processes 1;
worker_rlimit_nofile 65536;
pid ${directory}/nginx.pid;
error_log ${directory}/error.log error;
events { worker_connections 20000; }
http {
  access_log off;
${temporary}
  keepalive_requests 100000000;
  tcp_nodelay on;
  client_max_body_size 64m;
  client_body_buffer_size 4m;
  upstream bench { server 127.0.0.1:${upstreamPort}; keepalive 512; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 300s;
    }
  }
}
`;
}
