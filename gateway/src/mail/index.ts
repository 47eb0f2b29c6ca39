/**
 * mail: sends plain letters through the operator's own mail server. One connection a letter; a server that is down makes
 * a letter fail with words that name no secret, and stops nothing else.
 */
export { createMailer } from "./mailer.ts";
