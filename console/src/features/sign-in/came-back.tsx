import { Alert } from "@mantine/core";
import { useUrlText } from "../../routes/search.ts";

/** What went wrong with a sign-in elsewhere: it comes back as `?error=`, one of a few words of the gateway's. */
export function CameBack() {
  const [error] = useUrlText("error");
  if (error === "") return null;
  return (
    <Alert color="red" variant="light" title="You are not signed in" role="alert">
      {elsewhereWords(error)}
    </Alert>
  );
}

/** What went wrong elsewhere, by the gateway's word for it. */
export function elsewhereWords(error: string): string {
  return words[error] ?? words["failed"] ?? "";
}

const words: Readonly<Record<string, string>> = {
  denied: "The other side says that you refused, or that you may not come here.",
  expired: "It took too long, or was begun in another window. Try again.",
  no_email: "The other side told no e-mail address, so we do not know who you are.",
  email_not_verified: "The other side has not verified your e-mail address. Verify it there, then try again.",
  not_invited:
    "The other side may not sign in people with this e-mail address. If you were invited, open the link of the invitation first; else ask whoever runs this gateway.",
  account_exists:
    "There is an account with this e-mail address, and it is not connected to the other side. Sign in to it here first, then connect it under your name → Profile.",
  other_person: "It is connected to somebody else's account here already.",
  sign_in_first: "Connecting takes somebody who is signed in, lately and all the way. Try again.",
  no_access: "Your account may not sign in. Ask whoever runs this gateway.",
  failed:
    "The sign-in elsewhere did not work. Try again; if it stays, whoever runs this gateway finds the reason in its log.",
};
