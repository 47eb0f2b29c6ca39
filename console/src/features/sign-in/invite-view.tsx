import { Button, Stack, Text, TextInput } from "@mantine/core";
import type { AnswerOf } from "@sluice/contract";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../api/call-context.tsx";
import type { Problem } from "../../client/problem.ts";
import { When } from "../../components/figures.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { wrongField } from "../../components/wrong-field.ts";
import { Rich, t } from "../../language/areas/sign-in.ts";
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

type Invitation = AnswerOf<"invitation.find">;

interface InviteViewProps {
  readonly token: string;
  readonly onSignedIn: () => void;
}

/** Shows an invitation and accepts it, with a new or an existing account. */
export function InviteView({ token, onSignedIn }: InviteViewProps) {
  const call = useClient();
  const { leave } = useArrival();
  const { user } = useSessionAnswer();
  const invitation = useQuery<Invitation, Problem>({
    queryKey: ["invitation.find"],
    queryFn: () => call("invitation.find", { body: { token } }),
    gcTime: 0,
  });
  if (invitation.isPending) return <PageWaiting />;
  if (invitation.error !== null) {
    return (
      <Card title={t("signIn.invite.invalid")}>
        <ProblemAlert problem={invitation.error} />
        <Button size="sm" variant="default" onClick={leave}>
          {t("signIn.invite.skip")}
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
  const tags = { when: () => <When at={until} /> };
  if (administrator || workspace === null) {
    return by === null ? (
      <Rich text="signIn.invite.administrator" tags={tags} values={{ email }} />
    ) : (
      <Rich text="signIn.invite.administratorBy" tags={tags} values={{ name: by.name, address: by.email, email }} />
    );
  }
  const place = { workspace: workspace.name, role: t(`signIn.roles.${role ?? "viewer"}`), email };
  return by === null ? (
    <Rich text="signIn.invite.workspace" tags={tags} values={place} />
  ) : (
    <Rich text="signIn.invite.workspaceBy" tags={tags} values={{ ...place, name: by.name, address: by.email }} />
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
    <Card title={t("signIn.invite.welcome")} description={<Words invitation={invitation} />}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput label={t("signIn.email")} type="email" autoComplete="username" readOnly value={invitation.email} />
          <TextInput
            label={t("signIn.name")}
            description={t("signIn.nameHelp")}
            autoComplete="name"
            required
            withAsterisk={false}
            maxLength={256}
            error={wrongField(problem, "name")}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <NewPassword value={password} onChange={setPassword} tried={tried} />
          <FormProblem problem={problem} />
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
    <Card title={t("signIn.invite.signInFirst")} description={<Words invitation={invitation} />}>
      {methods.oidc.length > 0 && (
        <Text size="xs" c="dimmed">
          {t("signIn.invite.elsewhere")}
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
      title={theirs ? t("signIn.invite.accept") : t("signIn.invite.other")}
      description={<Words invitation={invitation} />}
    >
      {!theirs && (
        <Text size="sm">{t("signIn.invite.otherHelp", { email: user?.email ?? "", invited: invitation.email })}</Text>
      )}
      {problem !== null && <ProblemAlert problem={problem} />}
      {theirs ? (
        <Button size="sm" loading={doing} onClick={() => void accept()}>
          {t("signIn.invite.do")}
        </Button>
      ) : (
        <Button size="sm" onClick={() => void signOut()}>
          {t("signIn.signOut")}
        </Button>
      )}
      <Button size="sm" variant="subtle" onClick={leave}>
        {t("signIn.invite.skip")}
      </Button>
    </Card>
  );
}
