import { UnstyledButton } from "@mantine/core";
import type { SessionAnswer } from "@sluice/contract";
import type { ReactNode } from "react";
import { logoOf } from "../brand/use-brand.ts";
import { language, languages, showIn } from "../language/index.ts";

interface SignInFrameProps {
  /** undefined: not loaded yet. */
  readonly brand: SessionAnswer["brand"] | undefined;
  readonly children: ReactNode;
}

/** The minimal page around sign-in, setup and invitations: the logo and one card, without navigation. */
export function SignInFrame({ brand, children }: SignInFrameProps) {
  return (
    <div className="sign-in-frame">
      <header className="sign-in-brand">
        {brand !== undefined && (
          <>
            <img src={logoOf(brand)} alt="" height={36} className="brand-logo" />
            <span>{brand.name}</span>
          </>
        )}
      </header>
      <main id="content" className="sign-in-main">
        {children}
      </main>
      <footer className="sign-in-languages">
        {languages.map(({ id, name }) => (
          <UnstyledButton
            key={id}
            lang={id}
            className="text-link"
            aria-current={id === language ? "true" : undefined}
            onClick={() => showIn(id)}
          >
            {name}
          </UnstyledButton>
        ))}
      </footer>
    </div>
  );
}
