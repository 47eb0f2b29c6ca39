import { Button, Divider, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import type { SessionAnswer } from "@sluice/contract";
import { IconFingerprint } from "@tabler/icons-react";
import { type FormEvent, useRef, useState } from "react";
import { ProblemAlert } from "../components/problem-alert.tsx";
import { t } from "../language/areas/session.ts";
import { CodeForm } from "./code-form.tsx";
import { passkeysWork, signInElsewhere, signInInTab, signInWithPasskey, signInWithPassword } from "./sign-in-calls.ts";
import { useDoing } from "./use-doing.ts";

interface SignInFormProps {
  readonly methods: SessionAnswer["methods"];
  /** The email address, if it is fixed by an invitation or a confirmation. */
  readonly email?: string;
  /** The page to which single sign-on returns. */
  readonly page: string;
  /** `code`: single sign-on succeeded, and only the authenticator code is missing. */
  readonly firstStep?: "password" | "code";
  /** Opens single sign-on in a new tab, to keep the input on this page. */
  readonly pageStays?: boolean;
  readonly onDone: () => void;
}

/** The sign-in methods that the gateway offers: password with optional code, passkey, single sign-on. */
export function SignInForm({
  methods,
  email,
  page,
  firstStep = "password",
  pageStays = false,
  onDone,
}: SignInFormProps) {
  const [step, setStep] = useState(firstStep);
  const other = useDoing();
  const [away, setAway] = useState(false);
  const passkey = methods.passkey && passkeysWork();
  if (step === "code") return <CodeForm onDone={onDone} onBack={() => setStep("password")} />;
  const elsewhere = passkey || methods.oidc.length > 0;
  return (
    <Stack gap="md">
      {methods.password && <PasswordForm email={email ?? null} onDone={onDone} onCode={() => setStep("code")} />}
      {methods.password && elsewhere && <Divider label={t("session.or")} />}
      {other.problem !== null && <ProblemAlert problem={other.problem} />}
      {passkey && (
        <Button
          variant="default"
          size="sm"
          leftSection={<IconFingerprint size={17} stroke={1.6} />}
          loading={other.doing}
          onClick={async () => {
            if (await other.run(signInWithPasskey)) onDone();
          }}
        >
          {t("session.passkey")}
        </Button>
      )}
      {methods.oidc.map((account) => (
        <Button
          key={account.id}
          variant="default"
          size="sm"
          disabled={other.doing}
          onClick={async () => {
            if (!pageStays) await other.run(() => signInElsewhere(account.id, page));
            else if (await other.run(() => signInInTab(account.id, page))) setAway(true);
          }}
        >
          {t("session.continueWith", { name: account.name })}
        </Button>
      ))}
      {away && <Button onClick={onDone}>{t("session.signedInThere")}</Button>}
      {!methods.password && !elsewhere && <Text size="sm">{t("session.noMethod")}</Text>}
    </Stack>
  );
}

interface PasswordFormProps {
  readonly email: string | null;
  readonly onDone: () => void;
  readonly onCode: () => void;
}

function PasswordForm({ email: known, onDone, onCode }: PasswordFormProps) {
  const [email, setEmail] = useState(known ?? "");
  const [password, setPassword] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const { run, doing, problem } = useDoing();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (doing) return;
    const went = await run(async () => {
      const step = await signInWithPassword(email.trim(), password);
      if (step === "code") onCode();
      else onDone();
    });
    // Keeps text that was typed meanwhile.
    setPassword((now) => (now === password ? "" : now));
    if (!went) field.current?.focus();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label={t("session.email")}
          type="email"
          name="email"
          autoComplete="username"
          required
          withAsterisk={false}
          readOnly={known !== null}
          data-autofocus={known === null || undefined}
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          ref={field}
          label={t("session.password.label")}
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus={known !== null || undefined}
          maxLength={256}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {problem !== null && <ProblemAlert problem={problem} />}
        <Button type="submit" size="sm" loading={doing}>
          {t("session.signIn")}
        </Button>
      </Stack>
    </form>
  );
}
