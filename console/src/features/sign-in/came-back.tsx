import { Alert } from "@mantine/core";
import { t } from "../../language/areas/sign-in.ts";
import { useUrlText } from "../../routes/search.ts";

/** What went wrong with a sign-in elsewhere: it comes back as `?error=`, one of a few words of the gateway's. */
export function CameBack() {
  const [error] = useUrlText("error");
  if (error === "") return null;
  return (
    <Alert color="red" variant="light" title={t("signIn.youAreNotSignedIn")} role="alert">
      {elsewhereWords(error)}
    </Alert>
  );
}

/** What went wrong elsewhere, by the gateway's word for it. */
export function elsewhereWords(error: string): string {
  return words[error] ?? words["failed"] ?? "";
}

const words: Readonly<Record<string, string>> = {
  denied: t("signIn.theOtherSideSaysThat"),
  expired: t("signIn.itTookTooLongOr"),
  no_email: t("signIn.theOtherSideToldNo"),
  email_not_verified: t("signIn.theOtherSideHasNot"),
  not_invited: t("signIn.theOtherSideMayNot"),
  account_exists: t("signIn.thereIsAnAccountWith"),
  other_person: t("signIn.itIsConnectedToSomebody"),
  sign_in_first: t("signIn.connectingTakesSomebodyWhoIs"),
  no_access: t("signIn.yourAccountMayNotSign"),
  failed: t("signIn.theSignInElsewhereDid"),
};
