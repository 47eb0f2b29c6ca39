import { unavailable } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

unavailable(moderationsEndpoint);
