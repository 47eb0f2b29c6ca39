/**
 * mail: sends plain-text mail through the operator's mail server, with one connection per mail. If that fails, the error has no secrets.
 */
export { createMailer } from "./mailer.ts";
