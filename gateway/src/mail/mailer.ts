import { connect, type Socket } from "node:net";
import { Failure, isLoopbackHost, oneLine, type Secret } from "#core/index.ts";
import type { Mailer } from "#ports/index.ts";

/** Timeout of one mail, from the connection to the server's last answer. */
const mailMs = 20_000;

export interface MailOptions {
  /** `smtp://user:password@host:587` or `smtps://…`. */
  readonly url: Secret;
  /** The sender's address. */
  readonly from: string;
  /** Default: `mailMs`. */
  readonly timeMs?: number;
  /** Opens the connection. Default: a TCP socket. */
  readonly dial?: (place: { readonly host: string; readonly port: number }) => Socket;
}

export function createMailer(options: MailOptions): Mailer {
  const address = new URL(options.url.reveal());
  const tls = address.protocol === "smtps:";
  // URLs have IPv6 addresses in brackets; sockets do not.
  const host = address.hostname.replace(/^\[|\]$/g, "");
  const timeMs = options.timeMs ?? mailMs;
  const port = address.port === "" ? (tls ? 465 : 587) : Number(address.port);
  const credentials =
    address.username === ""
      ? {}
      : { auth: { user: decodeURIComponent(address.username), pass: decodeURIComponent(address.password) } };
  return {
    async send({ to, subject, text, attachment }) {
      // Loaded with the first mail, since most installations never send one.
      const { createTransport } = await import("nodemailer");
      const socket = (options.dial ?? connect)({ host, port });
      // The library's timeouts restart with each answer of the server.
      const end = setTimeout(() => socket.destroy(Object.assign(new Error("too slow"), { code: "ETIMEDOUT" })), timeMs);
      const transport = createTransport({
        host,
        port,
        secure: tls,
        connection: socket,
        // A password is never sent without TLS, unless the server is this machine.
        requireTLS: !tls && address.username !== "" && !isLoopbackHost(host),
        connectionTimeout: timeMs,
        greetingTimeout: timeMs,
        socketTimeout: timeMs,
        disableFileAccess: true,
        disableUrlAccess: true,
        ...credentials,
      });
      try {
        await connected(socket);
        // As objects, so that a comma or a line break in an address cannot add a recipient.
        const recipients = to.map((each) => ({ name: "", address: oneLine(each) }));
        const attachments =
          attachment === undefined
            ? []
            : [{ filename: oneLine(attachment.name), contentType: attachment.type, content: attachment.text }];
        await transport.sendMail({ from: options.from, to: recipients, subject: oneLine(subject), text, attachments });
      } catch (thrown) {
        throw new Failure("upstream_error", `The mail server did not accept the mail: ${reasonOf(thrown)}.`, {
          cause: thrown,
        });
      } finally {
        clearTimeout(end);
        transport.close();
        socket.destroy();
      }
    },
  };
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", (cause) => reject(Object.assign(new Error("no connection", { cause }), { code: "ESOCKET" })));
    socket.once("close", () => reject(Object.assign(new Error("no connection"), { code: "ETIMEDOUT" })));
  });
}

/** The server's own message may repeat what was sent to it, so only the library's code and the status are shown. */
function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown";
  const status = thrown instanceof Error && "responseCode" in thrown ? ` ${String(thrown.responseCode)}` : "";
  return `${code}${status}`;
}
