import { timeouts } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

timeouts(translationsEndpoint);
