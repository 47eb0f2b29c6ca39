/** Rejects if the server did not accept the mail, without secrets in the message. */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}

export interface Mail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly attachment?: { readonly name: string; readonly type: string; readonly text: string };
}
