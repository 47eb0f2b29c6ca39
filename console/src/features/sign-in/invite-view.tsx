import { Button, Stack, Text, TextInput } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../api/call-context.tsx";
import type { Problem } from "../../client/problem.ts";
import { When } from "../../components/figures.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/sign-in.ts";
import { useArrival } from "../../session/arrival.tsx";
import { NewPassword, noPassword, passwordReady } from "../../session/new-password.tsx";
import { consoleBase } from "../../session/next-page.ts";
import { useSessionAnswer } from "../../session/session-context.tsx";
import { signInWithPassword } from "../../session/sign-in-calls.ts";
import { SignInForm } from "../../session/sign-in-form.tsx";
import { useDoing } from "../../session/use-doing.ts";
import { useSignOut } from "../../session/use-sign-out.ts";
import { PageWaiting } from "../../shell/page-waiting.tsx";
import { Card } from "./card.tsx";

type Invitation = AnswerOf<"invitation.look">;

interface InviteViewProps {
  readonly token: string;
  readonly onSignedIn: () => void;
}

/** What an invitation is for, and how it is accepted: with a new account, or as somebody who has one. */
export function InviteView({ token, onSignedIn }: InviteViewProps) {
  const call = useClient();
  const { leave } = useArrival();
  const { user } = useSessionAnswer();
  const invitation = useQuery<Invitation, Problem>({
    queryKey: ["invitation.look"],
    queryFn: () => call("invitation.look", { body: { token } }),
    gcTime: 0,
  });
  if (invitation.isPending) return <PageWaiting />;
  if (invitation.error !== null) {
    return (
      <Card title={t("signIn.thisInvitationDoesNotOpen")}>
        <ProblemAlert problem={invitation.error} />
        <Button size="sm" variant="default" onClick={leave}>
          {t("signIn.goOnWithoutIt")}
        </Button>
      </Card>
    );
  }
  const props = { token, invitation: invitation.data, onSignedIn };
  if (user !== null) return <AcceptSignedIn {...props} />;
  return invitation.data.has_account ? <SignInFirst {...props} /> : <AcceptAsNew {...props} />;
}

interface AcceptProps extends InviteViewProps {
  readonly invitation: Invitation;
}

function Words({ invitation }: { readonly invitation: Invitation }): ReactNode {
  const { workspace, role, administrator, invited_by: by, email, expires_at: until } = invitation;
  const what = administrator
    ? t("signIn.runThisGatewayAsAn")
    : `join ${workspace?.name ?? "a workspace"} as ${role ?? "viewer"}`;
  return (
    <>
      {by === null ? t("signIn.youAreInvited") : t("signIn.invitesYou", { name: by.name, email: by.email })} to {what}.
      The invitation is for {email} and ends <When at={until} />.
    </>
  );
}

function AcceptAsNew({ token, invitation, onSignedIn }: AcceptProps) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState(noPassword);
  const [tried, setTried] = useState(false);
  const { run, doing, problem } = useDoing();
  const { leave } = useArrival();
  const call = useClient();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!passwordReady(password)) return;
    await run(async () => {
      const body = { token, name: name.trim(), password: password.password };
      const { email } = await call("invitation.accept", { body });
      await signInWithPassword(email, password.password);
      leave();
      onSignedIn();
    });
  };
  return (
    <Card title={t("signIn.welcomeToSluice")} description={<Words invitation={invitation} />}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t("signIn.eMailAddress")}
            type="email"
            autoComplete="username"
            readOnly
            value={invitation.email}
          />
          <TextInput
            label={t("signIn.yourName")}
            description={t("signIn.asOthersSeeIt")}
            autoComplete="name"
            required
            withAsterisk={false}
            maxLength={256}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <NewPassword value={password} onChange={setPassword} tried={tried} />
          {problem !== null && <ProblemAlert problem={problem} />}
          <Button type="submit" size="sm" loading={doing}>
            {t("signIn.createAccount")}
          </Button>
        </Stack>
      </form>
    </Card>
  );
}

/** Signing in changes the session; this page then shows `AcceptSignedIn`. */
function SignInFirst({ invitation, onSignedIn }: AcceptProps) {
  const { methods } = useSessionAnswer();
  return (
    <Card title={t("signIn.signInToAccept")} description={<Words invitation={invitation} />}>
      {methods.oidc.length > 0 && (
        <Text size="xs" c="dimmed">
          {t("signIn.ifYouSignInElsewhere")}
        </Text>
      )}
      <SignInForm methods={methods} email={invitation.email} page={`${consoleBase}/`} onDone={onSignedIn} />
    </Card>
  );
}

function AcceptSignedIn({ token, invitation, onSignedIn }: AcceptProps) {
  const { user } = useSessionAnswer();
  const { run, doing, problem } = useDoing();
  const { leave } = useArrival();
  const call = useClient();
  const signOut = useSignOut();
  const theirs = user?.email.toLowerCase() === invitation.email.toLowerCase();
  const accept = () =>
    run(async () => {
      await call("invitation.accept", { body: { token } });
      leave();
      onSignedIn();
    });
  return (
    <Card
      title={theirs ? t("signIn.acceptTheInvitation") : t("signIn.thisInvitationIsForSomebody")}
      description={<Words invitation={invitation} />}
    >
      {!theirs && (
        <Text size="sm">{t("signIn.youAreSignedInAs", { email: user?.email ?? "", email2: invitation.email })}</Text>
      )}
      {problem !== null && <ProblemAlert problem={problem} />}
      {theirs ? (
        <Button size="sm" loading={doing} onClick={() => void accept()}>
          {t("signIn.accept")}
        </Button>
      ) : (
        <Button size="sm" onClick={() => void signOut()}>
          {t("signIn.signOut")}
        </Button>
      )}
      <Button size="sm" variant="subtle" onClick={leave}>
        {t("signIn.goOnWithoutIt")}
      </Button>
    </Card>
  );
}
