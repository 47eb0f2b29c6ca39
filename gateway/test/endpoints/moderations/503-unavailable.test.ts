import { unavailable } from "../passed-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

unavailable(moderationsEndpoint);
