import { Button, Stack } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useClient } from "../../api/call-context.tsx";
import { noticeDone } from "../../components/notice.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/sign-in.ts";
import { useArrival } from "../../session/arrival.tsx";
import { NewPassword, noPassword, passwordReady } from "../../session/new-password.tsx";
import { signInWithPassword } from "../../session/sign-in-calls.ts";
import { useDoing } from "../../session/use-doing.ts";
import { Card } from "./card.tsx";

interface ResetViewProps {
  readonly token: string;
  readonly onSignedIn: () => void;
}

/** Sets a new password with a one-time link. All sessions end; the second factor stays. */
export function ResetView({ token, onSignedIn }: ResetViewProps) {
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
      const { email } = await call("reset.complete", { body: { token, password: password.password } });
      const step = await signInWithPassword(email, password.password);
      if (step === "code") noticeDone(t("signIn.reset.done"));
      leave();
      onSignedIn();
    });
  };
  return (
    <Card title={t("signIn.reset.title")} description={t("signIn.reset.help")}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <NewPassword value={password} onChange={setPassword} tried={tried} />
          {problem !== null && <ProblemAlert problem={problem} />}
          <Button type="submit" size="sm" loading={doing}>
            {t("signIn.reset.do")}
          </Button>
          {problem !== null && (
            <Button variant="subtle" size="sm" onClick={leave}>
              {t("signIn.reset.signIn")}
            </Button>
          )}
        </Stack>
      </form>
    </Card>
  );
}
