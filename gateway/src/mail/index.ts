/**
 * mail: sends plain-text mail through the operator's mail server, with one connection for each mail. When the server is down, sending
 * fails with a message without secrets, and nothing else stops.
 */
export { createMailer } from "./mailer.ts";
