//! Modules of a workspace that Python would import in the place of its own: `python3 -m NAME` and `python3 -c` look
//! in the folder where they are started before anywhere else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use baton_files::Dir;

use super::commands::{is_python, modules};
use super::named_files::file_hash;
use super::reach::list_files;

/// The standard library's modules that are files, of all versions.
const LIBRARY: &str = "abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore base64 bdb \
    binascii binhex bisect bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys \
    compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses \
    dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum fcntl filecmp \
    fileinput fnmatch formatter fractions ftplib functools genericpath getopt getpass gettext glob graphlib grp gzip \
    hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress json keyword lib2to3 \
    linecache locale logging lzma mailbox mailcap math mimetypes mmap modulefinder multiprocessing netrc nntplib \
    ntpath nturl2path numbers opcode operator optparse os parser pathlib pdb pickle pickletools pipes pkgutil platform \
    plistlib poplib posixpath pprint profile pstats pty py_compile pyclbr pydoc pydoc_data pyexpat queue quopri \
    random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal \
    site sitecustomize smtpd smtplib sndhdr socket socketserver sqlite3 sre_compile sre_constants sre_parse ssl stat \
    statistics string stringprep struct subprocess sunau symbol symtable sysconfig syslog tabnanny tarfile telnetlib \
    tempfile termios textwrap this threading timeit tkinter token tokenize tomllib trace traceback tracemalloc tty \
    turtle turtledemo types typing unicodedata unittest urllib usercustomize uu uuid venv warnings wave weakref \
    webbrowser wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo __future__ _aix_support _ast \
    _bootsubprocess _collections_abc _colorize _compat_pickle _compression _csv _ctypes _curses _datetime _decimal \
    _hashlib _json _lzma _markupbase _opcode _opcode_metadata _osx_support _pickle _posixsubprocess _py_abc \
    _pydatetime _pydecimal _pyio _pyrepl _py_warnings _queue _random _sitebuiltins _socket _ssl _strptime _struct \
    _sysconfigdata _threading_local _tokenize _uuid _weakrefset _zoneinfo";

/// What well-known tools that test and check are made of.
const TOOLS: &str = "pytest _pytest py pluggy iniconfig packaging exceptiongroup tomli pygments coverage pytest_cov \
    xdist execnet pytest_asyncio anyio hypothesis mypy mypyc mypy_extensions typing_extensions ruff black flake8 \
    pyflakes pycodestyle mccabe pylint astroid tox nox build pyproject_hooks pip setuptools pkg_resources wheel nose \
    nose2 pathspec platformdirs isort bandit pyright";

/// The first file or folder of the workspace that Python would import in the place of its own module, or that is
/// the module that the command names and not as it was trusted.
pub(super) fn foreign_module(
    project: &Dir,
    workspace: &Dir,
    command: &[String],
) -> Option<PathBuf> {
    let named = modules(command);
    if named.is_empty() && !has_code(command) || is_isolated(command) {
        return None;
    }
    let firsts = named.iter().map(|it| it.split('.').next().unwrap_or(it));
    let firsts: BTreeSet<&str> = firsts.filter(|it| !it.is_empty()).collect();
    let others: BTreeSet<&str> =
        LIBRARY.split_whitespace().chain(TOOLS.split_whitespace()).collect();
    let mut entries = workspace.list().unwrap_or_default();
    entries.sort_by(|one, two| one.0.cmp(&two.0));
    entries.into_iter().find_map(|(name, entry)| {
        let path = PathBuf::from(name);
        let module = path.to_str()?.split('.').next()?;
        let is_named = firsts.contains(module);
        // What the project has under such a name is what its agents work on.
        let is_new = matches!(project.entry(&path), Ok(None));
        let is_in_the_way = is_new && others.contains(module);
        if !(is_named || is_in_the_way) {
            return None;
        }
        let is_module = match (entry.is_folder(), path.extension().and_then(|it| it.to_str())) {
            (true, _) if is_new => is_package(workspace, &path),
            (true, _) => return differing_file(project, workspace, &path),
            (false, None) => !entry.is_file(),
            (false, Some(extension)) => ["py", "pyc", "so"].contains(&extension),
        };
        let differs = || file_hash(project, &path) != file_hash(workspace, &path);
        (is_module && (is_new || differs())).then(|| path.clone())
    })
}

/// Code in a word, in the folder where it is started.
fn has_code(command: &[String]) -> bool {
    let python = command.iter().position(|it| is_python(it));
    let options = python.map_or(&[][..], |it| &command[it + 1..]);
    options.iter().any(|it| is_option(it) && it.contains('c'))
}

/// Whether the folder where it is started is no place for modules: `-I`, `-P`.
fn is_isolated(command: &[String]) -> bool {
    let Some(python) = command.iter().position(|it| is_python(it)) else { return false };
    let options = command[python + 1..].iter().take_while(|it| it.starts_with('-'));
    let letters = options.filter(|it| is_option(it)).map(|it| it.split(['m', 'c']).next());
    letters.flatten().any(|it| it.contains(['I', 'P']))
}

fn is_option(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--")
}

/// A folder that is found before the library: others only where there is nothing else of the name.
fn is_package(workspace: &Dir, path: &Path) -> bool {
    let entries = workspace.subdir(path).and_then(|it| it.list()).unwrap_or_default();
    entries.iter().any(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("__init__.") || name.starts_with("__main__.")
    })
}

/// The first file below a folder of both that is new or another one in the workspace.
fn differing_file(project: &Dir, workspace: &Dir, folder: &Path) -> Option<PathBuf> {
    let mut files = Vec::new();
    if list_files(workspace, folder, &mut files, &mut false).is_err() {
        return Some(folder.to_owned());
    }
    files.into_iter().find(|it| file_hash(project, it) != file_hash(workspace, it))
}
