import { timeouts } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

timeouts(moderationsEndpoint);
