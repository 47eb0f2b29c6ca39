import { Alert, Anchor, Button, Code, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/sign-in.ts";
import { useArrival } from "../../session/arrival.tsx";
import { NewPassword, noPassword, passwordReady } from "../../session/new-password.tsx";
import { useSessionAnswer } from "../../session/session-context.tsx";
import { post, signInWithPassword } from "../../session/sign-in-calls.ts";
import { useDoing } from "../../session/use-doing.ts";
import { Card } from "./card.tsx";

interface SetupViewProps {
  /** null: the page was opened without the link. */
  readonly token: string | null;
  readonly onSignedIn: () => void;
}

/** The first administrator. Only the link that the gateway printed at its start opens it, and only once. */
export function SetupView({ token, onSignedIn }: SetupViewProps) {
  const { setup_needed: needed } = useSessionAnswer();
  const { leave } = useArrival();
  if (!needed) {
    return (
      <Card title={t("signIn.setUpIsAlreadyDone")}>
        <Alert variant="light">{t("signIn.aSetUpLinkWorks")}</Alert>
        <Button size="sm" onClick={leave}>
          {t("signIn.goOn")}
        </Button>
      </Card>
    );
  }
  if (token === null) {
    return (
      <Card
        title={t("signIn.thereIsNoAdministratorYet")}
        description={
          <>
            Open the set-up link that the gateway printed when it started, or that is in the file it named: it has{" "}
            <Code>#setup=…</Code>. Until then the gateway stays reachable from this machine only.
          </>
        }
        foot={
          <>
            The API works already:{" "}
            <Anchor href="/docs" size="xs" underline="always">
              {t("signIn.apiReference")}
            </Anchor>
          </>
        }
      >
        <Alert variant="light">{t("signIn.lostTheLinkStartThe")}</Alert>
      </Card>
    );
  }
  return <SetupForm token={token} onSignedIn={onSignedIn} />;
}

function SetupForm({ token, onSignedIn }: { readonly token: string; readonly onSignedIn: () => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState(noPassword);
  const [tried, setTried] = useState(false);
  const { run, doing, problem } = useDoing();
  const { leave } = useArrival();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!passwordReady(password)) return;
    const made = await run(async () => {
      await post("/api/setup", { token, email: email.trim(), password: password.password });
      await signInWithPassword(email.trim(), password.password);
    });
    if (!made) return;
    leave();
    onSignedIn();
  };
  return (
    <Card title={t("signIn.createTheFirstAdministrator")} description={t("signIn.thisLinkWorksOnceThe")}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <TextInput
            label={t("signIn.eMailAddress")}
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            maxLength={254}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <NewPassword value={password} onChange={setPassword} tried={tried} />
          {problem !== null && <ProblemAlert problem={problem} />}
          <Button type="submit" size="sm" loading={doing}>
            {t("signIn.createAdministrator")}
          </Button>
        </Stack>
      </form>
    </Card>
  );
}
