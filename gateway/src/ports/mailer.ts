/** Sends plain mail. Rejects when the server did not take it, with a message that names no secret. */
export interface Mailer {
  send(mail: { readonly to: readonly string[]; readonly subject: string; readonly text: string }): Promise<void>;
}
