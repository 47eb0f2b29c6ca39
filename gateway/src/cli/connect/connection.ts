/** How one program is told of the gateway, as pure changes of its own file's text. Each throws CommandFailed for a text that it cannot change safely. */
export interface Connection {
  readonly title: string;
  readonly path: string;
  /** The text with what is Sluice's in it, once and at `base`. */
  readonly connected: (text: string, base: string) => string;
  /** Without what is Sluice's; what it took the place of stands in `before`. null: nothing would be left. */
  readonly disconnected: (text: string, before: string | null) => string | null;
  /** Whether anything of Sluice's is in it. */
  readonly isConnected: (text: string) => boolean;
  /** What else its person has to know, one line each. */
  readonly remarks: (text: string) => readonly string[];
}
