/** Rejects if the server did not accept the mail, without secrets in the message. */
export interface Mailer {
  send(mail: { readonly to: readonly string[]; readonly subject: string; readonly text: string }): Promise<void>;
}
