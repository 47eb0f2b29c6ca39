import { type ApiServer, type Face, serveApi } from "#api/index.ts";
import { CannotStart } from "./cannot-start.ts";

/** Opens the port. Throws CannotStart, naming the address, when this machine does not let us. */
export function openPort(face: Face, options: Parameters<typeof serveApi>[1]): ApiServer {
  try {
    return serveApi(face, options);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const reason = reasons[code];
    if (reason === undefined) throw cause;
    throw new CannotStart(`${reason(options.hostname, options.port)}.`, { cause });
  }
}

const reasons: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) => `Port ${port} of ${host} is already in use; stop what listens there or set SLUICE_PORT`,
  EACCES: (_, port) => `This user may not listen on port ${port} (those below 1024 need a privilege); set SLUICE_PORT`,
  EADDRNOTAVAIL: (host) => `SLUICE_HOST is ${host}, which is not an address of this machine`,
};
