import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../test/until.ts";

const nginx = Bun.which("nginx") ?? Bun.which("nginx", { PATH: "/usr/sbin:/usr/local/sbin" });

/** Returns null if nginx is installed. Otherwise prints which test is skipped. */
export function noNginx(skippedTest: string): string | null {
  if (nginx !== null) return null;
  const notice = `skipped: nginx is not installed, so ${skippedTest}`;
  console.warn(notice);
  return notice;
}

/**
 * Starts nginx with these servers, one of which listens at `port`, and keeps its files in a temporary folder. Resolves
 * to a function that stops it.
 */
export async function startNginx(servers: string, port: number): Promise<() => Promise<void>> {
  if (nginx === null) throw new Error("nginx is not installed");
  const folder = mkdtempSync(join(tmpdir(), "sluice-nginx-"));
  writeFileSync(join(folder, "nginx.conf"), configuration(servers));
  const server = Bun.spawn([nginx, "-p", folder, "-e", "error.log", "-c", "nginx.conf"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  await until(async () => server.exitCode !== null || (await listens(port)));
  return async () => {
    server.kill();
    await server.exited;
    rmSync(folder, { recursive: true, force: true });
  };
}

const configuration = (servers: string): string => `
daemon off;
master_process off;
pid nginx.pid;
error_log error.log;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  ${servers}
}
`;

async function listens(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  );
}
