/**
 * How a program is configured to use the gateway, as pure edits of its settings file. Each throws CommandFailed for a text that it
 * cannot edit safely.
 */
export interface Connection {
  readonly title: string;
  readonly path: string;
  /** The text with our settings at `base`. */
  readonly connected: (text: string, base: string) => string;
  /** The text without our settings, restoring values from `before`. null if nothing would be left. */
  readonly disconnected: (text: string, before: string | null) => string | null;
  /** Whether the text has any of our settings. */
  readonly isConnected: (text: string) => boolean;
  /** Notes for the user, one line each. */
  readonly notes: (text: string) => readonly string[];
}
