/** The executable under its second name, for a run from the sources. */
import './main.ts'
