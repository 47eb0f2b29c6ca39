import { type ApiDependencies, type ApiServer, serveApi } from "#api/index.ts";
import { CannotStart } from "./cannot-start.ts";

/** Opens the port. Throws CannotStart, naming the address, when this machine does not let us. */
export function openPort(
  apiDependencies: ApiDependencies,
  options: Parameters<typeof serveApi>[1],
  variables = "SLUICE",
): ApiServer {
  try {
    return serveApi(apiDependencies, options);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const reason = reasons[code];
    if (reason === undefined) throw cause;
    throw new CannotStart(`${reason(options.hostname, options.port, variables)}.`, { cause });
  }
}

const reasons: Readonly<Record<string, (host: string, port: number, variables: string) => string>> = {
  EADDRINUSE: (host, port, variables) =>
    `Port ${port} of ${host} is already in use; stop what listens there or set ${variables}_PORT`,
  EACCES: (_, port, variables) =>
    `This user may not listen on port ${port} (those below 1024 need a privilege); set ${variables}_PORT`,
  EADDRNOTAVAIL: (host, _, variables) => `${variables}_HOST is ${host}, which is not an address of this machine`,
};
