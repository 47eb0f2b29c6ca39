import { Alert } from "@mantine/core";
import { t } from "../../language/areas/sign-in.ts";
import { useUrlText } from "../../routes/search.ts";

/** The error of a single sign-on, which the gateway returns as a code in `?error=`. */
export function CameBack() {
  const [error] = useUrlText("error");
  if (error === "") return null;
  return (
    <Alert color="red" variant="light" title={t("signIn.elsewhere.title")} role="alert">
      {elsewhereWords(error)}
    </Alert>
  );
}

/** The error message for a code of the gateway. */
export function elsewhereWords(error: string): string {
  return words[error] ?? words["failed"] ?? "";
}

const words: Readonly<Record<string, string>> = {
  denied: t("signIn.elsewhere.denied"),
  expired: t("signIn.elsewhere.expired"),
  no_email: t("signIn.elsewhere.noEmail"),
  email_not_verified: t("signIn.elsewhere.unverified"),
  not_invited: t("signIn.elsewhere.notInvited"),
  account_exists: t("signIn.elsewhere.accountExists"),
  other_person: t("signIn.elsewhere.otherPerson"),
  sign_in_first: t("signIn.elsewhere.signInFirst"),
  no_access: t("signIn.elsewhere.noAccess"),
  failed: t("signIn.elsewhere.failed"),
};
