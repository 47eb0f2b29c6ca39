import { rates } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

rates(moderationsEndpoint);
