import { expect, test } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import { Secret } from "#core/index.ts";
import { createMailer } from "./mailer.ts";

interface ServerBehavior {
  readonly startTls?: "refused";
  /** `silent` sends nothing; `dripping` sends lines without an end. */
  readonly slow?: "silent" | "dripping";
}

/** A mail server that records what it receives, and refuses the recipient `nobody`. */
async function mailServer({ startTls, slow }: ServerBehavior = {}) {
  const received: string[] = [];
  const recipients: string[] = [];
  const textLines: string[] = [];
  const server = createServer((socket: Socket) => {
    if (slow !== undefined) {
      const drip = setInterval(() => slow === "dripping" && socket.write("220-wait\r\n"), 20);
      socket.on("error", () => {}).on("close", () => clearInterval(drip));
      return;
    }
    let data = false;
    let login = 0;
    socket.write("220 mail.test\r\n");
    socket.setEncoding("utf8");
    socket.on("error", () => {});
    socket.on("data", (text: string) => {
      for (const line of text.split("\r\n")) {
        if (line === "") continue;
        received.push(line);
        if (data) {
          textLines.push(line);
          if (line === ".") {
            data = false;
            socket.write("250 accepted\r\n");
          }
        } else if (login > 0) {
          login -= 1;
          socket.write(login === 1 ? "334 UGFzc3dvcmQ6\r\n" : "235 signed in\r\n");
        } else if (/^EHLO/i.test(line)) {
          socket.write(`250-mail.test\r\n${startTls === undefined ? "" : "250-STARTTLS\r\n"}250 AUTH PLAIN LOGIN\r\n`);
        } else if (/^STARTTLS/i.test(line)) socket.write("454 not now\r\n");
        else if (/^AUTH PLAIN/i.test(line)) socket.write("235 signed in\r\n");
        else if (/^AUTH LOGIN/i.test(line)) {
          login = 2;
          socket.write("334 VXNlcm5hbWU6\r\n");
        } else if (/^RCPT TO:<(?!nobody)/i.test(line)) {
          recipients.push(line);
          socket.write("250 fine\r\n");
        } else if (/^RCPT TO:<nobody/i.test(line)) socket.write("550 secret-of-the-server\r\n");
        else if (/^DATA/i.test(line)) {
          data = true;
          socket.write("354 continue\r\n");
        } else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
        else socket.write("250 fine\r\n");
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    received,
    recipients,
    isText: (line: string) => textLines.includes(line),
    port,
    close: () => server.close(),
  };
}

test("sends a mail with sender, recipients, subject and text", async () => {
  const server = await mailServer();
  const mailer = createMailer({
    url: new Secret(`smtp://user:p%40ss@127.0.0.1:${server.port}`),
    from: "sluice@example.com",
  });
  await mailer.send({
    to: ["ada@example.com", "bob@example.com"],
    subject: "Budget 80 %",
    text: "Four fifths are used.",
  });
  server.close();
  const all = server.received.join("\n");
  expect(all).toContain("MAIL FROM:<sluice@example.com>");
  expect(all).toContain("RCPT TO:<ada@example.com>");
  expect(all).toContain("RCPT TO:<bob@example.com>");
  expect(all).toContain("Subject: Budget 80 %");
  expect(all).toContain("Four fifths are used.");
  expect(Buffer.from(/AUTH PLAIN (\S+)/.exec(all)?.[1] ?? "", "base64").toString()).toBe("\u0000user\u0000p@ss");
});

test("fails without the server's message and without the password if the mail is refused", async () => {
  const server = await mailServer();
  const mailer = createMailer({ url: new Secret(`smtp://u:hunter2@127.0.0.1:${server.port}`), from: "a@example.com" });
  const refused = mailer.send({ to: ["nobody@example.com"], subject: "x", text: "y" });
  await expect(refused).rejects.toThrow("The mail server did not accept the mail: EENVELOPE 550.");
  await refused.catch((thrown: Error) => expect(thrown.message).not.toMatch(/hunter2|secret-of-the-server/));
  server.close();
});

test("cannot add headers or recipients through names and addresses", async () => {
  const server = await mailServer();
  const mailer = createMailer({ url: new Secret(`smtp://127.0.0.1:${server.port}`), from: "a@example.com" });
  await mailer
    .send({
      to: ["ada@example.com\r\nRCPT TO:<evil@example.com>"],
      subject: "Invitation to Acme\r\nBcc: evil@example.com\r\n\r\nAnother text",
      text: "line\r\n.\r\nMAIL FROM:<evil@example.com>",
    })
    .catch(() => undefined);
  await mailer
    .send({ to: ["ada@example.com, evil@example.com"], subject: "x\u2028Bcc: evil@example.com", text: "y" })
    .catch(() => undefined);
  server.close();
  expect(server.recipients).toHaveLength(2);
  expect(server.received.filter((line) => /^Bcc:/i.test(line))).toEqual([]);
  expect(server.received.filter((line) => /^MAIL FROM:/i.test(line) && !server.isText(line))).toEqual(
    Array(2).fill("MAIL FROM:<a@example.com>"),
  );
});

test("fails with ESOCKET if there is no server", async () => {
  const mailer = createMailer({ url: new Secret("smtp://127.0.0.1:1"), from: "a@example.com" });
  await expect(mailer.send({ to: ["b@example.com"], subject: "x", text: "y" })).rejects.toThrow(
    "The mail server did not accept the mail: ESOCKET.",
  );
});

test("sends a password only with TLS, unless the server is this machine", async () => {
  // An address of this machine that is not recognized as such.
  for (const more of [{}, { startTls: "refused" as const }]) {
    const server = await mailServer(more);
    const url = new Secret(`smtp://u:hunter2@[64:ff9b::7f00:1]:${server.port}`);
    const mailer = createMailer({ url, from: "a@example.com", dial: () => connect(server.port, "127.0.0.1") });
    await expect(mailer.send({ to: ["b@example.com"], subject: "x", text: "y" })).rejects.toThrow(/: E(TLS|SOCKET)/);
    server.close();
    expect(server.received.join("\n")).not.toMatch(/AUTH|MAIL FROM/);
  }
  const named = await mailServer();
  const url = new Secret(`smtp://u:hunter2@127.example.com:${named.port}`);
  const mailer = createMailer({ url, from: "a@example.com", dial: () => connect(named.port, "127.0.0.1") });
  await expect(mailer.send({ to: ["b@example.com"], subject: "x", text: "y" })).rejects.toThrow(/: E(TLS|SOCKET)/);
  named.close();
  expect(named.received.join("\n")).not.toContain("AUTH");
});

test.each(["silent", "dripping"] as const)("times out with a %s server", async (slow) => {
  const server = await mailServer({ slow });
  const mailer = createMailer({
    url: new Secret(`smtp://127.0.0.1:${server.port}`),
    from: "a@example.com",
    timeMs: 300,
  });
  await expect(mailer.send({ to: ["b@example.com"], subject: "x", text: "y" })).rejects.toThrow(
    "The mail server did not accept the mail",
  );
  server.close();
});
