import { bounds, Failure, type Secret } from "#core/index.ts";
import type { Mailer } from "#ports/index.ts";

export interface MailOptions {
  /** `smtp://user:password@host:587` or `smtps://…`. */
  readonly url: Secret;
  /** The sender's address. */
  readonly from: string;
}

export function createMailer(options: MailOptions): Mailer {
  const address = new URL(options.url.reveal());
  const tls = address.protocol === "smtps:";
  const port = address.port === "" ? (tls ? 465 : 587) : Number(address.port);
  const credentials =
    address.username === ""
      ? {}
      : { auth: { user: decodeURIComponent(address.username), pass: decodeURIComponent(address.password) } };
  return {
    async send({ to, subject, text }) {
      // Loaded with the first letter: most installations never send one.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        host: address.hostname,
        port,
        secure: tls,
        // A password is never sent in the open, unless the server is this machine.
        requireTLS: !tls && address.username !== "" && !isLoopback(address.hostname),
        connectionTimeout: bounds.mailMs,
        greetingTimeout: bounds.mailMs,
        socketTimeout: bounds.mailMs,
        disableFileAccess: true,
        disableUrlAccess: true,
        ...credentials,
      });
      try {
        await transport.sendMail({ from: options.from, to: [...to], subject, text });
      } catch (thrown) {
        throw new Failure("upstream_error", `The mail server did not take the mail: ${reasonOf(thrown)}.`, {
          cause: thrown,
        });
      } finally {
        transport.close();
      }
    },
  };
}

/** The server's words may repeat what was sent to it; the library's code and the status say enough. */
function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown";
  const status = thrown instanceof Error && "responseCode" in thrown ? ` ${String(thrown.responseCode)}` : "";
  return `${code}${status}`;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}
